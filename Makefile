# Every target is one line; the steps are in tests/run, so that CI and people do the same.
.DEFAULT_GOAL := help
.PHONY: help demo test test-lint test-unit test-rig test-e2e test-conformance test-topology test-deny rig-up rig-down rig-status bench bench-fleet

help: ## print this
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

demo: ## one process with a simulated fleet; writes demo/kubeconfig and demo/topology.git; Ctrl-C ends it
	@tests/run demo

test: ## everything that CI does: lint, unit, the rig's real peers, end to end, conformance
	@tests/run all

test-lint: ## format, clippy, documentation
	@tests/run lint

test-unit: ## tests that need nothing but this folder
	@tests/run unit

test-rig: ## protocol suites against the real daemons of a rig that is started for them
	@tests/run peers

test-e2e: ## the whole product on a rig that is started for it
	@tests/run e2e

test-conformance: ## clients that nobody here wrote, against two replicas on a rig that is started for them
	@tests/run conformance

test-topology: ## topologies, applied by real Flux
	@tests/run topology

test-deny: ## licences, banned and duplicate crates
	@tests/run deny

rig-up: ## start the rig and leave it running; PARTS="hosts kube" starts some of it
	@tests/rig/up $(PARTS)

rig-down: ## end the rig
	@tests/rig/down

rig-status: ## which parts of the rig answer
	@tests/rig/status

bench-fleet: ## what 50, 500 and 5,000 hosts of 100 instances cost, and 1,000 of them silent; minutes, and 8 GiB of memory
	@tests/run bench-fleet

bench: ## what a fleet costs, directly and through a real kube-apiserver; BENCH="--hosts 3,50" says what to measure
	@tests/run bench
