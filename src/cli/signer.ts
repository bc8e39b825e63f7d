/** `signer show|copy|rotate|revoke`; the last two run only without a server. */
import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { openLog } from '../app/logging.ts'
import { openDatabase } from '../app/open-database.ts'
import { openLogOffice } from '../app/open-log.ts'
import { keySourceOf } from '../app/open-signer.ts'
import type { Config } from '../config/config.ts'
import { systemRandom } from '../kernel/random.ts'
import { readSecretFile, writeKeyFile } from '../proof/signer/key-file.ts'
import {
  type RotationRequest,
  type RotationResult,
  revokeSigner,
  rotateSigner,
} from '../proof/signer/rotate.ts'
import type { Signer } from '../proof/signer/signer.ts'
import { leafIndexOf } from '../proof/signer/signers.ts'
import { openSource } from '../proof/signer/source.ts'
import { assertSame, findHistory, findKnownSigner, noteCopied } from '../proof/signer/store.ts'
import { configOf, Exit, exitCodes, print, printJson, say, takeSignerKey, verb } from './context.ts'

export function signerCommands(program: Command): void {
  const signer = program.command('signer').description('show and change the signing key')
  verb(signer, 'show', 'list the signers and the range of the log that each may sign').action(show)
  verb(signer, 'copy', 'copy the key to a new file for safe keeping; backups do not hold it')
    .argument('<file>', 'file to write; must not exist')
    .action(copy)
  verb(signer, 'rotate', 'replace the signing key; stop the server first')
    .requiredOption('--reason <words>', 'why; stored permanently in the log')
    .option('--key-file <file>', 'the next key; default: a new one is created')
    .action(rotate)
  verb(
    signer,
    'revoke',
    "invalidate a stolen key's signatures from an index on; stop the server first",
  )
    .requiredOption('--from-index <n>', 'first log index that it may not sign', readIndex)
    .requiredOption('--reason <words>', 'why; stored permanently in the log')
    .option('--key-file <file>', 'the next key; default: a new one is created')
    .action(revoke)
}

async function show(options: { json?: boolean }): Promise<void> {
  const { db } = await openDatabase(configOf(options))
  try {
    const history = await findHistory(db)
    if (!history) throw new Exit(exitCodes.failed, 'There is no signer yet: start the server once.')
    const { logs, signers } = history
    const data = signers.all.map((row) => ({
      issuer: row.issuer,
      address: row.address,
      from_index: row.fromIndex,
      until_index: row.untilIndex,
      named_at_index: leafIndexOf(row, logs),
      reason: row.reason,
    }))
    if (options.json) return printJson({ object: 'list', data })
    for (const one of data) {
      const range = `${one.from_index}…${one.until_index === null ? '' : one.until_index - 1}`
      print(`${one.address}  ${range.padEnd(16)}  ${one.issuer}  ${one.reason}`.trimEnd())
    }
  } finally {
    await db.close()
  }
}

async function copy(file: string, options: { json?: boolean }): Promise<void> {
  const config = configOf(options)
  const source = keySourceOf(config, takeSignerKey())
  if (source.kind === 'env' || source.kind === 'keystore') {
    const where = source.kind === 'env' ? 'COUNTERFOIL_SIGNER_KEY' : source.file
    throw new Exit(exitCodes.failed, `The key comes from ${where}: copy that instead.`)
  }
  if (existsSync(file)) throw new Exit(exitCodes.failed, `${file} already exists.`)
  const { db } = await openDatabase(config)
  try {
    const known = await findKnownSigner(db)
    if (known === undefined) {
      throw new Exit(exitCodes.failed, 'There is no signer yet: start the server once.')
    }
    const { address } = openSource(source, known, systemRandom())
    assertSame(known, { address })
    writeKeyFile(file, (readSecretFile(source.file, 'signer key file') ?? '').trim())
    await noteCopied(db, address)
    if (options.json) return printJson({ address, file })
    print(file)
    say(`This is the key of ${address}. Move it off this machine and keep it secret.`)
  } finally {
    await db.close()
  }
}

type Options = { reason: string; keyFile?: string; json?: boolean }

async function rotate(options: Options): Promise<void> {
  const config = configOf(options)
  const wish = wishOf(config, options)
  await inOffice(config, async (office) => {
    const { address } = office.signers.current
    const turned = await rotateSigner(office, wish, openSource(wish.source, address, office.random))
    tell(turned, wish, options.json)
  })
}

async function revoke(options: Options & { fromIndex: number }): Promise<void> {
  const config = configOf(options)
  const wish = { ...wishOf(config, options), fromIndex: options.fromIndex }
  await inOffice(config, async (office) => {
    const old = openIfThere(office, wish)
    const turned = await revokeSigner(office, wish, old)
    if (!old) say('The old key was not found, so it did not sign the statement in the log.')
    tell(turned, wish, options.json)
  })
}

type Services = Awaited<ReturnType<typeof openLogOffice>>

async function inOffice(config: Config, work: (office: Services) => Promise<void>): Promise<void> {
  const log = openLog({ level: 'error', format: 'pretty' })
  await using office = await openLogOffice(config, log)
  await work(office)
}

function wishOf(config: Config, { reason, keyFile }: Options): RotationRequest {
  const words = reason.trim()
  if (words === '') throw new Exit(exitCodes.usage, 'Say why: --reason "…"')
  const source = keySourceOf(config, takeSignerKey())
  return { reason: words, source, data: config.data, nextKeyFile: keyFile }
}

/** The old key, if it can still be read: a stolen key may be lost too. */
function openIfThere(
  { signers, random }: Services,
  { source }: RotationRequest,
): Signer | undefined {
  try {
    return openSource(source, signers.current.address, random)
  } catch (error) {
    say(`${error instanceof Error ? error.message : 'The key cannot be read'}.`)
    return undefined
  }
}

function tell(
  turned: RotationResult,
  { source }: RotationRequest,
  json: boolean | undefined,
): void {
  const { previous, next, fromIndex, logIndex, keyFile, oldKeyFile } = turned
  if (json) {
    const files = { key_file: keyFile, old_key_file: oldKeyFile ?? null }
    printJson({ previous, next, from_index: fromIndex, log_index: logIndex, ...files })
  }
  say(`The log is signed by ${next} from index ${fromIndex} on, and by ${previous} below it.`)
  if (oldKeyFile) say(`Its key is in ${keyFile}. Move ${oldKeyFile} to a safe place.`)
  else if (source.kind === 'keystore') {
    say(`Its key is in ${keyFile}. Set [signer] key_file to it and remove keystore_file.`)
  } else
    say(`Its key is in ${keyFile}. Set [signer] key_file to it and unset COUNTERFOIL_SIGNER_KEY.`)
}

function readIndex(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected a log index, from 0')
}
