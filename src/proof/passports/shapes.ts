import { Type } from '@sinclair/typebox'
import type { Json } from '../../kernel/canonical.ts'
import { type Refusal, refuse } from '../../kernel/refusal.ts'
import { checkBody } from '../../web/http/check-body.ts'
import type { Fields } from '../../web/http/fields.ts'
import { type Kind, kinds, type ProfileWish } from './profile.ts'

/** The fields of a form of a passport as somebody typed them, to be shown again. */
export type Draft = Readonly<Record<string, string>>

const closed = { additionalProperties: false } as const
const text = (description: string, example: string) =>
  Type.String({ maxLength: 4000, description, examples: [example] })
const kind = Type.Union(
  kinds.map((one) => Type.Literal(one)),
  { description: 'Who that is.' },
)
const handle = text('3 to 30 characters: a letter, then letters, digits and hyphens.', 'scout')
const displayName = text('1 to 64 characters.', 'Scout')
const bio = Type.Optional(text('At most 280 characters.', 'Finds things.'))
const rest = {
  bio,
  links: Type.Optional(
    Type.Array(text('An https address.', 'https://scout.example/'), {
      maxItems: 50,
      description: 'At most 5.',
    }),
  ),
  show_owner: Type.Optional(
    Type.Boolean({ description: 'Whether its page names the owner.', examples: [false] }),
  ),
}
const formRest = {
  bio,
  links: Type.Optional(text('One a line.', 'https://scout.example/')),
  show_owner: Type.Optional(text('`true` names the owner on its page.', 'true')),
  show_owner_from: Type.Optional(
    text('Any text: the form has the box, and an absent `show_owner` is an empty one.', '1'),
  ),
}

/** The body of `POST /api/portal/passports`, and its form. */
export const createBody = Type.Object(
  { handle, display_name: displayName, kind, ...rest },
  { ...closed, description: 'A passport to be made.' },
)
export const createForm = Type.Object(
  { handle, display_name: displayName, kind, ...formRest },
  { ...closed, description: 'A passport to be made, as a form.' },
)
/** The body of `PATCH /api/portal/passports/:handle`, and its form. */
export const editBody = Type.Object(
  { display_name: Type.Optional(displayName), kind: Type.Optional(kind), ...rest },
  { ...closed, description: 'What of a passport is to change. What is left out stays.' },
)
export const editForm = Type.Object(
  { display_name: Type.Optional(displayName), kind: Type.Optional(kind), ...formRest },
  { ...closed, description: 'What of a passport is to change, as a form.' },
)
/** The body of `POST /api/portal/passports/:handle/bind` and `unbind`. */
export const bindBody = Type.Object(
  {
    key_id: Type.Optional(
      Type.Union([Type.String({ maxLength: 64 }), Type.Null()], {
        description: 'A key of the account.',
        examples: ['key_01k1j8dq00v5x3c7n9m2p4r6t8'],
      }),
    ),
  },
  { ...closed, description: 'Which key.' },
)

/** What was sent as a form; a body that is none has no fields. */
export function draftOf(value: Json): Draft {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  const texts = Object.entries(value).filter(([, one]) => typeof one === 'string')
  return Object.fromEntries(texts) as Draft
}

/** @throws Refusal `invalid_request` with `param`. */
export function readNewPassport(sent: Fields) {
  const body = checkBody(createBody, sent.isForm ? unflatten(draftOf(sent.value)) : sent.value)
  const { handle, display_name: displayName, kind, ...more } = body
  return { handle: handle.trim(), displayName, kind, ...toWish(more) }
}

/** @throws Refusal `invalid_request` with `param`. */
export function readEdit(sent: Fields): ProfileWish {
  const body = checkBody(editBody, sent.isForm ? unflatten(draftOf(sent.value)) : sent.value)
  const { display_name: displayName, kind, ...more } = body
  return {
    ...(displayName === undefined ? {} : { displayName }),
    ...(kind === undefined ? {} : { kind }),
    ...toWish(more),
  }
}

/** The key that is named; undefined for null, nothing and an empty field. */
export const readKeyId = (value: Json): string | undefined =>
  checkBody(bindBody, value).key_id?.trim() || undefined

/** @throws Refusal `invalid_request` unless a key is named. */
export function readNamedKey(value: Json): string {
  const message = 'Name the key as "key_id".'
  return readKeyId(value) ?? refuse('invalid_request', { param: 'key_id', message })
}

type Rest = { bio?: string; links?: string[]; show_owner?: boolean }

const toWish = ({ bio, links, show_owner: ownerShown }: Rest): ProfileWish => ({
  ...(bio === undefined ? {} : { bio }),
  ...(links === undefined ? {} : { links }),
  ...(ownerShown === undefined ? {} : { ownerShown }),
})

/** A form's fields as the JSON body has them: links one a line, a box that is absent is empty. */
function unflatten(draft: Draft): Record<string, unknown> {
  const { links, show_owner: shown, show_owner_from: hasBox, ...texts } = draft
  return {
    ...texts,
    ...(links === undefined ? {} : { links: links.split(/\s+/).filter((link) => link !== '') }),
    ...(hasBox === undefined && shown === undefined ? {} : { show_owner: shown === 'true' }),
  }
}

/** A passport as its form shows it. */
export const toDraft = (profile: {
  displayName: string
  kind: Kind
  bio: string
  links: readonly string[]
  ownerShown: boolean
}): Draft => ({
  display_name: profile.displayName,
  kind: profile.kind,
  bio: profile.bio,
  links: profile.links.join('\n'),
  ...(profile.ownerShown ? { show_owner: 'true' } : {}),
})

/** What is wrong with a field, in its own words; undefined where nothing is. */
export const errorOf = (refusal: Refusal | undefined, field: string): string | undefined =>
  refusal?.detail.param?.split('.')[0] === field ? refusal.message : undefined
