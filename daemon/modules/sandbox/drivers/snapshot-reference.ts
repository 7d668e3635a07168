const PREFIX = 'snapshot:';

/** The image reference that names a snapshot to a driver. */
export function snapshotReference(snapshotId: string): string {
  return PREFIX + snapshotId;
}

/** The id of the snapshot that an image reference names; undefined for any other image. */
export function snapshotOf(reference: string): string | undefined {
  return reference.startsWith(PREFIX) ? reference.slice(PREFIX.length) : undefined;
}
