#!/usr/bin/env bun
import { raiseFetchLimit } from './app/fetch-limit.ts'

/** The binary. */
// Whatever a command writes is for its owner alone: keys, money and the signer lie in these files.
process.umask(0o077)
raiseFetchLimit()
// Everything else comes only now: the process that just replaced itself had no use for it.
// No top-level await: the bytecode of an executable cannot hold one.
import('./cli/program.ts').then(({ runCommand }) => runCommand(process.argv))
