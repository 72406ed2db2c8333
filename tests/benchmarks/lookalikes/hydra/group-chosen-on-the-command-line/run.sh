#!/bin/bash
python train.py --config-path conf --config-name config experiment=small trainer.max_steps=900
