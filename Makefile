# The two commands: `make demo` shows it, `make test` checks it. Both install what they miss.
SHELL := /bin/bash
.PHONY: test test-long demo cluster down generate quick

## Every check but the long ones.
test:
	tests/run test

## What takes longer: larger searches, hundreds of rounds, a thousand objects.
test-long:
	tests/run long

## Apply, scale, refuse, break, mend and delete a Memcached on a real cluster, told step by step.
demo:
	tests/demo/run

## A cluster with the operator in it, until `make down`.
cluster:
	tests/cluster/bed up auto
	tests/cluster/bed stay
	tests/cluster/operator build
	tests/cluster/operator install
	@echo 'eval "$$(tests/cluster/bed env)" and try: kubectl apply -f examples/memcached-v1alpha1.yaml'

down:
	tests/cluster/bed down

## Prints all that follows from the code.
generate:
	. tests/lib/compile.sh && generate

## Every test that needs neither a cluster nor other programs than cargo.
quick:
	tests/run quick
