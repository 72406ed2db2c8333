data_root = 'data/things/'
data = dict(samples_per_gpu=4, workers_per_gpu=2, train=dict(ann_file=data_root + 'train.json'))
