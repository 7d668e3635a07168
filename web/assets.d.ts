declare module '*.svg' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import has only a default.
  export default text;
}

declare module '*.css' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import has only a default.
  export default text;
}
