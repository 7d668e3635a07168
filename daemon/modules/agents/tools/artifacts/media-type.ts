/** What the ends of names say; everything else is bytes. */
const TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv; charset=utf-8',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  log: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** The media type that the name of a file speaks of. */
export function mediaTypeOf(name: string): string {
  const end = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return TYPES[end] ?? 'application/octet-stream';
}
