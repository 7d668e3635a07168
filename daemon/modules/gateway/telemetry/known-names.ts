/** What stands in place of names when there are too many. */
export const OTHER = 'other';

/** So many models, and so many providers, have series of their own. */
const MOST_NAMES = 100;

/**
 * The names that figures are told by: the first hundred that were met, and `other`. Without that, callers who make up
 * names would make series without end.
 */
export class KnownNames {
  private readonly names = new Set<string>();

  /** The name if it is known or there is room for it. */
  admit(name: string): string {
    if (this.names.has(name)) return name;
    if (this.names.size >= MOST_NAMES) return OTHER;
    this.names.add(name);
    return name;
  }

  /** The name if it is known. */
  find(name: string): string {
    return this.names.has(name) ? name : OTHER;
  }
}
