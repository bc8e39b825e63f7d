/** Checks and limits what an owner writes about a passport. */
import { refuseField } from '../../kernel/refusal.ts'

export const kinds = ['agent', 'person', 'service'] as const
export type Kind = (typeof kinds)[number]

/** The owner's own description of a passport; the service vouches for none of it. */
export type Profile = {
  /** 1 to 64 characters. */
  displayName: string
  kind: Kind
  /** At most 280 characters. */
  bio: string
  /** At most 5, each https. */
  links: string[]
  /** Whether the owner's address is shown. */
  ownerShown: boolean
}

/** Its members by their names in bodies and the audit. */
const profileNames = {
  displayName: 'display_name',
  kind: 'kind',
  bio: 'bio',
  links: 'links',
  ownerShown: 'show_owner',
} as const satisfies Record<keyof Profile, string>

export const everyProfileName = Object.entries(profileNames) as {
  [C in keyof Profile]: [C, (typeof profileNames)[C]]
}[keyof Profile][]

const nameMax = 64
const bioMax = 280
const linksMax = 5
const linkMax = 200

/** Fields to change; the others stay as they are. */
export type ProfileChange = Partial<Profile>

/** @throws Refusal `invalid_request` with `param`. */
export const toProfile = (
  wish: ProfileChange & Pick<Profile, 'displayName' | 'kind'>,
): Profile => ({
  displayName: boundName(wish.displayName),
  kind: wish.kind,
  bio: boundBio(wish.bio ?? ''),
  links: boundLinks(wish.links ?? []),
  ownerShown: wish.ownerShown ?? false,
})

/** Invisible characters and direction overrides; joiners are part of letters. */
const unprintable = /[\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u

function boundName(text: string): string {
  const name = text.normalize('NFC').replace(/\s+/g, ' ').trim()
  const param = 'display_name'
  if (lengthOf(name) < 1 || lengthOf(name) > nameMax) {
    refuseField(param, `A name has 1 to ${nameMax} characters.`)
  }
  if (unprintable.test(text) || !/[\p{L}\p{N}\p{S}]/u.test(name)) {
    refuseField(param, 'Write a name in letters, without control or direction characters.')
  }
  return name
}

function boundBio(text: string): string {
  const bio = text.normalize('NFC').trim()
  const param = 'bio'
  if (lengthOf(bio) > bioMax) {
    refuseField(param, `A bio has at most ${bioMax} characters.`)
  }
  if (unprintable.test(bio.replaceAll('\n', ' '))) {
    refuseField(param, 'Write the bio without control or direction characters.')
  }
  return bio
}

function boundLinks(links: readonly string[]): string[] {
  const param = 'links'
  if (links.length > linksMax) {
    refuseField(param, `A passport has at most ${linksMax} links.`)
  }
  const bound = links.map((link) => {
    const url = URL.parse(link.trim())
    const isPlain = url?.protocol === 'https:' && url.username === '' && url.password === ''
    const isPublic = url?.hostname.includes('.') && url.href.length <= linkMax
    if (url && isPlain && isPublic && !unprintable.test(link)) return url.href
    return refuseField(
      param,
      `Each link is a whole https address of at most ${linkMax} characters.`,
    )
  })
  return [...new Set(bound)]
}

/** In characters as people count them, near enough: code points. */
const lengthOf = (text: string): number => [...text].length
