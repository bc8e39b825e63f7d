/** The wallet provider of a page (EIP-1193). */
export type Provider = {
  request(asked: { method: string; params?: unknown[] }): Promise<unknown>
  on?(event: string, listener: (told: unknown) => void): void
  removeListener?(event: string, listener: (told: unknown) => void): void
}

/** A wallet that announced itself (EIP-6963). `id` stays the same from page to page. */
export type AnnouncedWallet = {
  id: string
  name: string
  icon: string | undefined
  provider: Provider
}

const maxName = 40

/** Reads an announcement; undefined when it is none. Any script of the browser can make one. */
export function readAnnounced(detail: unknown): AnnouncedWallet | undefined {
  if (!isRecord(detail) || !isRecord(detail['info'])) return undefined
  const { info, provider } = detail
  const { name, icon, rdns, uuid } = info as Record<string, unknown>
  if (!isProvider(provider) || typeof name !== 'string' || name.trim() === '') return undefined
  return {
    id: [rdns, uuid].find(isText) ?? name,
    name: name.trim().slice(0, maxName),
    icon: typeof icon === 'string' && isPicture(icon) ? icon : undefined,
    provider,
  }
}

/** An icon given as a data URL; icons are never fetched, which would reveal who signs in where. */
const isPicture = (url: string): boolean =>
  /^data:image\/(png|svg\+xml|webp|jpeg|gif)[;,]/.test(url) && url.length < 200_000

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const isProvider = (value: unknown): value is Provider =>
  isRecord(value) && typeof value['request'] === 'function'
