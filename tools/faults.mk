# The table of faults, docs/faults.md. Its program is a module of its own, for toxiproxy.
.PHONY: faults faults-check
# Tries each row and writes the page, within two minutes.
faults:
	$(GO) -C tools/faults run .
# Tries each row again. FAULTS=-complete fails where nginx or haproxy is missing, instead of skipping its rows.
faults-check:
	$(GO) -C tools/faults vet ./...
	$(GO) -C tools/faults test -timeout 10m -count=1 -parallel 4 ./... $(FAULTS)
