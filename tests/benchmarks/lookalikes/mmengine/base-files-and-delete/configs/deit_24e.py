_base_ = ['_base_/schedule.py', '_base_/data.py']
model = dict(backbone=dict(_delete_=True, type='DeiT', embed_dims=192, num_layers=12, num_heads=3))
optimizer = dict(_delete_=True, type='AdamW', lr=0.0002, weight_decay=0.05)
auto_scale_lr = dict(base_batch_size=32)
