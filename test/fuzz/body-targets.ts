import { changeBody, mintBody, rotateBody } from '../../src/access/keys/api/key-body.ts'
import { toChange, toMintRequest } from '../../src/access/keys/key-request.ts'
import { readNewKey } from '../../src/access/keys/portal/key-form.ts'
import { toAsk } from '../../src/front/console/api/question.ts'
import type { Json } from '../../src/kernel/canonical.ts'
import { maxNusd } from '../../src/kernel/money.ts'
import { boundOf, forwardBody } from '../../src/models/bound.ts'
import { echoModel, embedModel } from '../../src/models/builtins.ts'
import type { Model } from '../../src/models/model.ts'
import { assertHandle } from '../../src/proof/passports/handle.ts'
import {
  readEdit,
  readNamedKey,
  readNewPassport,
} from '../../src/proof/passports/portal/read-body.ts'
import { toProfile } from '../../src/proof/passports/profile.ts'
import { readShareBody } from '../../src/proof/receipts/api/share.ts'
import { toOpenAi } from '../../src/runs/api/native.ts'
import { runBody } from '../../src/runs/api/run-body.ts'
import { parseSound } from '../../src/web/http/body.ts'
import { checkBody } from '../../src/web/http/check-body.ts'
import { draftOf } from '../../src/web/http/fields.ts'
import { isRefusal, must, type Target } from './run.ts'

const now = Date.UTC(2026, 10, 21)

const models: readonly Model[] = [
  { ...echoModel, id: 'acme/small', verifiable: 'none', overhead: { perMessage: 16, fixed: 64 } },
  echoModel,
  embedModel,
]

/** Tokens of a request are bounded by what is sent, no matter what is in it. */
function bounded(body: { [member: string]: Json }): void {
  const model = models.find(({ kind }) => 'input' in body === (kind === 'embedding')) ?? echoModel
  const bound = boundOf(model, body)
  for (const count of [bound.inputTokens, bound.outputTokens, bound.maxTokens]) {
    must(Number.isSafeInteger(count) && count >= 0, 'a count')
  }
  const [step] = model.route
  if (step) JSON.stringify(forwardBody(model, body, step, bound.maxTokens))
}

/** Bodies of requests, once they are JSON. */
export const bodyTargets: readonly Target[] = [
  {
    name: 'body of a key',
    goodJson: [
      { name: 'a', cap: { limit_nusd: 5_000_000_000, window: 'month' }, scopes: ['runs:read'] },
      {
        name: 'b',
        cap: { limit_nusd: 1 },
        models: ['acme/*'],
        ip_cidrs: ['10.0.0.0/8'],
        tags: { a: 'b' },
      },
      { cap: { limit_nusd: 7 }, limits: { rpm: 5, concurrency: null, max_cost_per_run_nusd: 9 } },
      { overlap_seconds: 60 },
      { name: 'c', cap: { limit_nusd: 2 }, expires_at: '2027-01-31T00:00:00Z', parent_id: 'key_x' },
    ],
    read(text) {
      const value = parseSound(text)
      const isOne = (read: () => unknown): boolean => {
        try {
          read()
          return true
        } catch (error) {
          if (!isRefusal(error)) throw error
          return false
        }
      }
      isOne(() => toMintRequest(checkBody(mintBody, value)))
      isOne(() => toChange(checkBody(changeBody, value)))
      isOne(() => checkBody(rotateBody, value))
    },
  },
  {
    name: 'form of a key',
    goodJson: [
      { name: 'a', cap: '5.00', window: 'month', expires: '90d', scopes: 'runs:read' },
      {
        name: 'b',
        cap: '$1',
        expires_on: '2027-01-31',
        tags: 'team=a\nb=c',
        rpm: '60',
        models: 'acme/*',
      },
      {
        name: 'c',
        cap: '2',
        scopes_from: 'form',
        'scope.runs:read': 'true',
        ip_cidrs: '10.0.0.0/8',
      },
    ],
    read(text) {
      const wish = readNewKey(draftOf(parseSound(text)), { parent: undefined, now })
      must(wish.capLimit > 0n && wish.capLimit <= maxNusd, 'a cap')
    },
  },
  {
    name: 'passport',
    goodJson: [
      {
        handle: 'scout',
        display_name: 'Scout',
        kind: 'agent',
        bio: 'I look.',
        links: ['https://a.example/b'],
      },
      { handle: 'scout', display_name: 'Ä', kind: 'person', show_owner: true },
    ],
    read(text) {
      const value = parseSound(text)
      const { handle, ...profile } = readNewPassport({ value, isForm: false })
      assertHandle(handle)
      const { displayName, bio, links } = toProfile(profile)
      must(
        links.every((link) => link.startsWith('https://')),
        'links of https',
      )
      must((displayName + bio).isWellFormed(), 'well-formed')
    },
  },
  {
    name: 'form of a passport',
    goodJson: [
      { display_name: 'Scout', kind: 'agent', links: 'https://a.example b', show_owner_from: 'x' },
    ],
    read: (text) => readEdit({ value: parseSound(text), isForm: true }),
  },
  {
    name: 'named key',
    goodJson: [{ key_id: 'key_x' }],
    read: (text) => readNamedKey(parseSound(text)),
  },
  {
    name: 'share of a receipt',
    goodJson: [
      { visibility: 'public', sections: ['run', 'charge'], reveal: ['input'] },
      { visibility: 'unlisted', reveal: ['output'], disclosures: { output: { value: [1] } } },
    ],
    read: (text) => readShareBody(parseSound(text)),
  },
  {
    name: 'chat request',
    goodJson: [
      { model: 'a', messages: [{ role: 'user', content: 'hi' }], max_tokens: 5, stop: ['a'], n: 2 },
      {
        model: 'a',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
        stream: true,
      },
      {
        model: 'a',
        messages: [{ role: 'tool', content: 'x' }],
        tools: [{ type: 'function', function: {} }],
      },
    ],
    read(text) {
      const value = parseSound(text)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) bounded(value)
    },
  },
  {
    name: 'embedding request',
    goodJson: [
      { model: 'a', input: ['x', 'y'], dimensions: 4, encoding_format: 'float' },
      { model: 'a', input: 'text' },
    ],
    read(text) {
      const value = parseSound(text)
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) bounded(value)
    },
  },
  {
    name: 'native run',
    goodJson: [
      { model: 'a', input: 'hi', max_output_tokens: 5, tags: { team: 'a' }, metadata: { a: [1] } },
      {
        model: 'a',
        messages: [{ role: 'user', content: 'x' }],
        params: { temperature: 0.5 },
        fit: true,
      },
    ],
    read: (text) => bounded(toOpenAi(echoModel, checkBody(runBody, parseSound(text)))),
  },
  {
    name: 'question of the console',
    goodJson: [
      {
        model: echoModel.id,
        input: 'hi',
        max_output_tokens: 9,
        turns: [{ input: 'a', output: 'b' }],
      },
    ],
    read(text) {
      const draft = {
        model: echoModel.id,
        input: 'x',
        max_output_tokens: '',
        temperature: '',
        system: '',
        files: [],
        turns: [],
      }
      const catalogue = { get: () => echoModel } as unknown as Parameters<
        typeof toAsk
      >[0]['catalogue']
      toAsk({ catalogue }, { received: parseSound(text), isForm: false, draft, once: '' })
    },
  },
]
