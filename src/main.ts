#!/usr/bin/env bun
/** The executable: prepares the process, then runs one command. */
import { raiseFetchLimit } from './app/fetch-limit.ts'

// Files that a command writes hold keys, money and the signer: their owner alone may read them.
process.umask(0o077)
raiseFetchLimit()
// Everything else loads now, because a process that replaces itself does not need it. A top-level
// await is not possible: the bytecode of an executable cannot hold one.
import('./cli/program.ts').then(({ runCommand }) => runCommand(process.argv))
