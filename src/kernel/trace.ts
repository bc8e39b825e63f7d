/** The trace of a request (W3C Trace Context). */

/** A request's place in its caller's trace (W3C Trace Context, level 1). */
export type Trace = {
  /** 32 hex digits, as logs name it. */
  id: string
  /** The `traceparent` to hand on. */
  parent: string
  /** The `tracestate` that came with it. */
  state?: string
}

/** The most of a `tracestate` that has to be handed on (§3.3.1.5), in characters. */
const stateMax = 512

/**
 * Reads the headers `traceparent` and `tracestate`. Returns undefined if the first is malformed:
 * then both must be ignored (§3.2.2).
 */
export function readTrace(traceparent: string | null, tracestate: string | null) {
  if (traceparent === null) return undefined
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(
    traceparent,
  )
  if (!match || traceparent.length > stateMax) return undefined
  const [, version, id = '', parentId = '', flags, more] = match
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(id) || /^0+$/.test(parentId)) return undefined
  // A later version may add fields, whose meaning is unknown: only these are handed on (§4.3).
  const trace: Trace = { id, parent: `00-${id}-${parentId}-${flags}` }
  if (tracestate && tracestate.length <= stateMax && /^[\x20-\x7e]+$/.test(tracestate)) {
    trace.state = tracestate
  }
  return trace
}

/** The headers of a request that belongs to a trace. */
export const traceHeaders = (trace: Trace | undefined): Record<string, string> =>
  trace ? { traceparent: trace.parent, ...(trace.state ? { tracestate: trace.state } : {}) } : {}
