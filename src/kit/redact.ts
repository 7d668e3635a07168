const SECRET_NAME = /(authorization|cookie|password|passwd|secret|token|api-?_?key|credential|private)/i;
const SECRET_VALUE =
  /\b(st?_[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9_-]{8,}|Bearer\s+[A-Za-z0-9._~+/=-]+|eyJ[\w-]+\.[\w-]+\.[\w-]+)/g;
const MASK = '[redacted]';

/** Masks secrets inside a text: keys and SSH tokens of ours and of the known providers, bearer tokens, JWTs. */
export function redactText(text: string): string {
  return text.replace(SECRET_VALUE, MASK);
}

/** A copy of a value for logs: fields with secret names are masked, texts pass through redactText. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (value === null || typeof value !== 'object' || depth > 6) return value;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      SECRET_NAME.test(name) ? MASK : redact(inner, depth + 1),
    ]),
  );
}

/** A key with its secret part hidden: the last four characters stay. */
export function maskKey(key: string): string {
  return key.length <= 8 ? '****' : `****${key.slice(-4)}`;
}
