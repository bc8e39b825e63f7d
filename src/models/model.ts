/** A model: its prices, its limits and its route. */
import type { ZoneName } from '../kernel/zone.ts'
import type { Hours } from './hours.ts'
import type { ModelKind } from './meter.ts'
import type { Prices } from './rates.ts'
import type { TokenizerName } from './tokenizers/tokenizer.ts'

/** A model that people can pay for: its prices, its limits and where it really runs. */
export type Model = {
  /** `owner/name`, as a request names it. */
  id: string
  name: string
  kind: ModelKind
  ownedBy: string
  contextTokens: number
  /** Most tokens of one answer; 0 for an embedding. */
  maxOutputTokens: number
  /** The prices of all steps without their own. */
  prices: Prices
  /** All prices at which its runs can be charged, if steps of its route have their own. */
  varied?: VariedPrices | undefined
  /** Its prices by the hour, if they depend on it; a run has those of the hour of its hold. */
  hours?: PriceHours | undefined
  features: string[]
  /** Tried in order, before the first byte. */
  route: RouteStep[]
  /** How steps with weights share its requests; absent, the order of the route is fixed. */
  balance?: Balance | undefined
  verifiable: 'none' | 're-executable'
  status: 'live' | 'disabled' | 'deprecated'
  /** Whether the public terminal may use it. */
  terminal: boolean
  /** Tokens an upstream adds to what it is sent: the bound of a hold counts them. */
  overhead: { perMessage: number; fixed: number }
  /** How many bytes a token of input has at least, as the operator risks it; 1 when absent. */
  holdBytesPerToken?: number | undefined
  /** Members of a request that go to a server of the same protocol beside those it is known for. */
  pass?: readonly string[] | undefined
  /** Bytes of a token where usage is counted. */
  bytesPerToken: number
  /** Whether the operator set that: then no figure of reported runs replaces it. */
  isBytesPerTokenSet?: true
  /** Fate of a run whose client hangs up; by what is known of its reasoning when absent. */
  onDisconnect?: OnDisconnect | undefined
  /** Whether all requests that are translated into Messages get cache breakpoints. */
  isCached?: boolean | undefined
  /** The tokenizer that counts its text exactly. */
  tokenizer?: TokenizerName | undefined
  /** The most tokens of an image, and of a page of a PDF; absent, it takes none. */
  imageTokensMax?: number | undefined
  pageTokensMax?: number | undefined
  /** The most pages of a PDF that its server takes. */
  pdfPagesMax?: number | undefined
}

/** `drain`: its answer is read to the end and charged. `cut`: its server is stopped at once. */
export type OnDisconnect = 'drain' | 'cut'

/** How the steps of one group are put into order. */
export type Balance = 'order' | 'weight' | 'latency' | 'cost' | 'least-busy'

/**
 * `cost` is what the operator pays for a run there, if that is known; no account sees it. Steps
 * with a weight that stand together are one group. `prices` take the place of the model's in the
 * runs that this step answers.
 */
export type RouteStep = {
  upstream: string
  model: string
  cost?: Prices
  weight?: number
  prices?: Prices
}

/** The prices of a model some of whose steps have their own. */
export type VariedPrices = {
  /** The lists at which a run can be charged, each once. */
  lists: readonly Prices[]
  /** The dearest rate of each meter among them: no run costs more than at these. */
  dearest: Prices
}

/** The prices of a model by the hour of the week, as the clocks of one zone show it. */
export type PriceHours = {
  zone: ZoneName
  /** The model at the prices of some hours. No two are on at one moment. */
  windows: readonly { of: Hours; model: Model }[]
  /** The model at all other hours. */
  usual: Model
  /** The dearest rate of each meter at any hour. */
  dearest: Prices
}

/** A version of all prices; a receipt names it as `id@version`. */
export type PriceList = { id: string; version: number; digest: string }
