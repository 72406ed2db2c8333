"""About 3 hours on 8 chips; `--config.total_epochs 300` for the long run."""
import ml_collections as mlc


def get_config():
  config = mlc.ConfigDict()
  config.total_epochs = 30
  config.input = {}
  config.input.data = dict(name='imagenet2012', split='train[:99%]')
  config.input.batch_size = 512
  config.input.pp = 'decode_jpeg_and_inception_crop(160)|flip_lr|keep("image")'
  config.model_name = 'vit'
  config.model = dict(variant='Ti/16', pool_type='gap')
  config.lr = 0.002
  config.evals = dict(val=dict(batch_size=100))
  return config
