#!/bin/sh
# Prints how many SMs a process has that is given these variables. PYTHON is one with
# PyTorch, as vLLM's is:
#
#   sms.sh [NAME=VALUE...]
exec env "$@" "${PYTHON:-python3}" -c 'import torch; print(torch.cuda.get_device_properties(0).multi_processor_count)'
