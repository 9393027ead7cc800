# The table of faults, docs/measured/faults.md. Its program is a separate module, for toxiproxy.
.PHONY: faults faults-check
faults: ## try each fault and write docs/measured/faults.md, within two minutes
	$(GO) -C tools/faults run .
# FAULTS=-complete fails where nginx or haproxy is missing, instead of skipping its rows.
faults-check: ## try each fault of docs/measured/faults.md again
	$(GO) -C tools/faults vet ./...
	$(GO) -C tools/faults test -timeout 10m -count=1 -parallel 4 ./... $(FAULTS)
