/** Why sandboxes of the namespace driver cannot be measured here; undefined when they can. */
export function namespaceMissing(): string | undefined {
  if (process.platform !== 'linux') return 'the namespace driver needs Linux';
  if (process.getuid?.() !== 0) return 'the namespace driver needs root';
  if (!Bun.which('crun') && !Bun.which('runc')) return 'neither crun nor runc is installed';
  return undefined;
}
