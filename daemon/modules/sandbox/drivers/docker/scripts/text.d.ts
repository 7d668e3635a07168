/** A shell program, embedded as it is. */
declare module '*.sh' {
  const text: string;
  export = text;
}
