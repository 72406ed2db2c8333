optimizer = dict(type='SGD', lr=0.02, momentum=0.9)
runner = dict(type='EpochBasedRunner', max_epochs=24)
model = dict(backbone=dict(type='ResNet', depth=50))
