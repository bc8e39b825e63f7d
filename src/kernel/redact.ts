/**
 * What must never stand in a log, whoever put it there. Each pattern takes time in proportion to
 * the text: some of it is what a stranger sent.
 */
const secrets: [RegExp, string][] = [
  [/sk-service-[0-9A-Za-z]+/g, 'sk-service-[redacted]'],
  [/\bsk-[\w-]{16,}/g, 'sk-[redacted]'],
  [/\b(authorization["']?\s*[:=]\s*["']?)(?!bearer|basic)[^\s"',]+/gi, '$1[redacted]'],
  [/\b(bearer|basic)\s+[^\s"',]+/gi, '$1 [redacted]'],
  [/\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^\r\n"']+/gi, '$1[redacted]'],
  [/(__Host-[\w-]+=)[^;\s"',]+/g, '$1[redacted]'],
  [/\b(0x)?[0-9a-fA-F]{130}\b/g, '[signature redacted]'],
  [/\b(0x)?[0-9a-fA-F]{64}\b/g, '[32 bytes redacted]'],
  [/(\b\w+:\/\/)[^/\s:@]+:[^/\s@]+@/g, '$1[redacted]@'],
  [/([?&][^=\s&?]{0,64}(?:key|token|secret|auth)[^=\s&?]{0,64}=)[^&\s"']+/gi, '$1[redacted]'],
]

/** UTF-16 units of one text in a log, and more than any secret has: none is told in part. */
const mostLength = 16 * 1024
const margin = 1024

export function redact(text: string): string {
  let out = text.slice(0, mostLength + margin)
  for (const [pattern, replacement] of secrets) out = out.replace(pattern, replacement)
  if (text.length <= mostLength) return out
  // A secret that the look itself cut is not known as one. It stands at the end, which comes nearer
  // with every secret before it that became shorter.
  const isCut = text.length > mostLength + margin
  const end = isCut ? Math.min(mostLength, out.length - margin) : mostLength
  return `${out.slice(0, Math.max(0, end))}…`
}
