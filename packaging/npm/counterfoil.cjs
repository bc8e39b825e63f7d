#!/usr/bin/env node
/**
 * Starts the executable of this platform, which an optional dependency brought. Where Node can, the
 * executable takes the place of this process; else it runs as its child, with the same signals and
 * the same end.
 */
'use strict'

const { spawn } = require('node:child_process')
const { constants } = require('node:os')
const { dirname, join } = require('node:path')

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2']

/** The platform as releases name it, `linux-x64-musl` for example. */
function platform() {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const isMusl =
    process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime
  return `${system}-${process.arch}${isMusl ? '-musl' : ''}`
}

/** The path of the executable; undefined where its package is not installed. */
function executable(name) {
  const file = process.platform === 'win32' ? 'counterfoil.exe' : 'counterfoil'
  try {
    return join(dirname(require.resolve(`@counterfoil/${name}/package.json`)), 'bin', file)
  } catch {
    return undefined
  }
}

function explain(name) {
  const { optionalDependencies, version } = require('./package.json')
  const wanted = `@counterfoil/${name}`
  if (!optionalDependencies[wanted]) {
    const known = Object.keys(optionalDependencies).map((one) => one.replace('@counterfoil/', ''))
    return `There is no executable for ${name}; there is one for ${known.join(', ')}.`
  }
  return (
    `The package ${wanted} is missing. npm leaves it out with --omit=optional or with a lock file ` +
    `of another platform: npm install ${wanted}@${version}`
  )
}

const name = platform()
const file = executable(name)
if (file === undefined) {
  console.error(explain(name))
  process.exit(1)
}
const args = process.argv.slice(2)
if (process.execve && process.platform !== 'win32')
  process.execve(file, [file, ...args], process.env)

// Before it starts: it may be asked to end as soon as it says something.
for (const signal of signals) process.on(signal, () => child.kill(signal))
const child = spawn(file, args, { stdio: 'inherit' })
child.on('error', (error) => {
  console.error(`${file} cannot be started: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code))
