/** Removes secrets from text before it is logged. */

/** Each pattern runs in linear time, because strangers send some of the text. */
const secrets: [RegExp, string][] = [
  [/sk-service-[0-9A-Za-z]+/g, 'sk-service-[redacted]'],
  [/op-service-[0-9A-Za-z]+/g, 'op-service-[redacted]'],
  [/\bsk-[\w-]{16,}/g, 'sk-[redacted]'],
  [/\b(authorization["']?\s*[:=]\s*["']?)(?!bearer|basic)[^\s"',]+/gi, '$1[redacted]'],
  [/\b((?:x-(?:goog-)?)?api-key["']?\s*[:=]\s*["']?)[^\s"',]+/gi, '$1[redacted]'],
  [/\b(bearer|basic)\s+[^\s"',]+/gi, '$1 [redacted]'],
  [/\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^\r\n"']+/gi, '$1[redacted]'],
  [/(__Host-[\w-]+=)[^;\s"',]+/g, '$1[redacted]'],
  [/\b(0x)?[0-9a-fA-F]{130}\b/g, '[signature redacted]'],
  [/\b(0x)?[0-9a-fA-F]{64}\b/g, '[32 bytes redacted]'],
  [/(\b\w+:\/\/)[^/\s:@]+:[^/\s@]+@/g, '$1[redacted]@'],
  [/([?&][^=\s&?]{0,64}(?:key|token|secret|auth)[^=\s&?]{0,64}=)[^&\s"']+/gi, '$1[redacted]'],
]

/** The longest text of a log, in UTF-16 units, and a margin longer than any secret. */
const mostLength = 16 * 1024
const margin = 1024

export function redact(text: string): string {
  let out = text.slice(0, mostLength + margin)
  for (const [pattern, replacement] of secrets) out = out.replace(pattern, replacement)
  if (text.length <= mostLength) return out
  // A secret cut by the slice goes unrecognised at the end of the text, and every replacement
  // before
  // it moves that end forward.
  const isCut = text.length > mostLength + margin
  const end = isCut ? Math.min(mostLength, out.length - margin) : mostLength
  return `${out.slice(0, Math.max(0, end))}…`
}
