import { parseNested } from '../../../../../../src/kit/nesting.ts';

const MARK = 'svc1.';

/** What a provider wants back unchanged (`provider_content`), as the `encrypted_content` of an item of reasoning. */
export function sealContent(items: readonly unknown[]): string {
  return MARK + Buffer.from(JSON.stringify(items)).toString('base64url');
}

/** The same again; undefined for what was not made by `sealContent`. */
export function openContent(sealed: unknown): unknown[] | undefined {
  if (!isSealed(sealed)) return undefined;
  try {
    const items: unknown = parseNested(Buffer.from(sealed.slice(MARK.length), 'base64url').toString());
    return Array.isArray(items) ? items : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text has the mark of `sealContent`: it means nothing to a provider that speaks this dialect. */
export function isSealed(sealed: unknown): sealed is string {
  return typeof sealed === 'string' && sealed.startsWith(MARK);
}
