/** `receipt show|share|unshare|erase` and `retention`: each also runs beside a live server. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { openCommandServices } from '../app/open-command-services.ts'
import type { Json } from '../kernel/canonical.ts'
import { toRfc3339 } from '../kernel/clock.ts'
import { isId } from '../kernel/ids.ts'
import { toUsd } from '../kernel/money.ts'
import { refuse } from '../kernel/refusal.ts'
import { eraseReceipt } from '../proof/receipts/erase.ts'
import { isErased } from '../proof/receipts/receipt.ts'
import { toOwnFile } from '../proof/receipts/receipt-file.ts'
import {
  revealedNames,
  shareReceipt,
  type TextName,
  textNames,
  toShareView,
} from '../proof/receipts/share.ts'
import { setRetention } from '../storage/texts/retain.ts'
import { type Retention, retentions } from '../storage/texts/retention.ts'
import { toChecksumAddress } from '../verify/address.ts'
import { type SectionName, sectionNames } from '../verify/receipt.ts'
import { configOf, Exit, exitCodes, print, printJson, say, verb } from './context.ts'
import { readAccount, readWord, readWords } from './values.ts'

export function receiptCommands(program: Command): void {
  const receipt = program.command('receipt').description('show, share and erase receipts')
  verb(receipt, 'show', 'show a whole receipt; --json prints the receipt file')
    .argument('<receipt id>')
    .action(show)
  verb(receipt, 'share', 'let others see a receipt; copies they make cannot be recalled')
    .argument('<receipt id>')
    .option('--visibility <word>', 'unlisted or public', readShared, 'unlisted')
    .option('--sections <a,b>', `any of ${sectionNames.join(', ')}`, readSections)
    .option('--reveal <a,b>', 'texts to show: input, output', readTexts)
    .option('--input <file>', 'the input as JSON, if it was not kept')
    .option('--output <file>', 'the output as JSON, if it was not kept')
    .action(share)
  verb(receipt, 'unshare', 'make a receipt private again')
    .argument('<receipt id>')
    .action((id: string, options: Options) => share(id, { ...options, visibility: 'private' }))
  verb(receipt, 'erase', "permanently delete the salts and hashes that identify a receipt's texts")
    .argument('<receipt id>')
    .action(erase)
  verb(program, 'retention', "set how long the texts of an account's runs are kept")
    .argument('<0x…>', 'wallet address', readAccount)
    .argument('<time>', retentions.join(', '), (text) => readWord('time', text, retentions))
    .action(retain)
}

type Options = Record<string, unknown> & { json?: boolean }
type ShareOptions = Options & {
  visibility: 'private' | 'unlisted' | 'public'
  sections?: SectionName[]
  reveal?: TextName[]
  input?: string
  output?: string
}
type Services = Awaited<ReturnType<typeof openCommandServices>>

const readShared = (text: string) => readWord('visibility', text, ['unlisted', 'public'] as const)
const readSections = (text: string) => readWords('section', text, sectionNames)
const readTexts = (text: string) => readWords('text', text, textNames)

async function show(id: string, options: Options): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const run = await find(office, id)
  const { signature } = run
  if (!signature) {
    throw new Exit(
      exitCodes.failed,
      `${id} is not signed yet; a running server signs it within seconds`,
    )
  }
  const [share, texts] = await Promise.all([office.shares.find(id), office.texts.find(run.id)])
  const file = toOwnFile({ ...run, signature }, texts)
  const visibility = share?.visibility ?? 'private'
  if (options.json) return printJson({ ...file, visibility })
  const revealed = revealedNames(share).join(' and ')
  print(`${id}  ${visibility}${revealed ? `, shows its ${revealed}` : ''}`)
  print(`${toRfc3339(run.finishedAt)}  ${run.model}  ${run.outcome}  ${toUsd(run.cost)} USD`)
  print(`account ${toChecksumAddress(run.accountId)}, key ${run.keyId}`)
  print(`digest ${file.digest}`)
  if (isErased(run)) print('erased: nothing left identifies its texts')
  else if (texts) print(JSON.stringify(texts))
}

async function share(id: string, options: ShareOptions): Promise<void> {
  const config = configOf(options)
  const { visibility, sections } = options
  const texts = {
    ...(options.input === undefined ? {} : { input: readText(options.input) }),
    ...(options.output === undefined ? {} : { output: readText(options.output) }),
  }
  const reveal = textNames.filter((name) => options.reveal?.includes(name) || name in texts)
  await using office = await openCommandServices(config)
  const { accountId: account } = await find(office, id)
  const wish = { account, receiptId: id, visibility, sections, reveal, texts }
  const shared = await shareReceipt(office, { ...wish, actor: 'operator' })
  const view = toShareView(id, shared, { baseUrl: config.base_url })
  if (options.json) return printJson(view)
  if (!shared) return say(`${id} is private. Copies made earlier cannot be recalled.`)
  const shown = [...view.sections, ...view.reveal.map((name) => `its ${name}`)].join(', ')
  say(`${id} is ${view.visibility} and shows ${shown || 'only its date'}.`)
  print(String(view.url))
}

async function erase(id: string, options: Options): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  const { accountId: account } = await find(office, id)
  const erasedAt = await eraseReceipt(office, { account, receiptId: id, actor: 'operator' })
  const erased_at = toRfc3339(erasedAt)
  if (options.json) printJson({ object: 'erasure', receipt_id: id, erased_at })
  else say(`Erased ${id} at ${erased_at}. Its signature and proof remain valid.`)
}

async function retain(account: string, retention: Retention, options: Options): Promise<void> {
  await using office = await openCommandServices(configOf(options))
  await setRetention(office, { account, retention, actor: 'operator' })
  const shown = toChecksumAddress(account)
  if (options.json) printJson({ account: shown, retention })
  else if (retention === 'none') say(`Texts of ${shown} are not kept; stored ones were deleted.`)
  else say(`New texts of ${shown} are kept for ${retention}.`)
}

/** @throws Refusal `receipt_not_found` */
async function find({ receipts }: Services, id: string) {
  const found = isId('rcpt', id) ? await receipts.find(id) : undefined
  return found ?? refuse('receipt_not_found', 'No such receipt.')
}

function readText(path: string): Json {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Exit(exitCodes.usage, `${path} cannot be read as JSON: ${(error as Error).message}`)
  }
}
