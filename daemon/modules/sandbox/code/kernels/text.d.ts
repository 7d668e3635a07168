/** A Python program, embedded as it is. */
declare module '*.py' {
  const text: string;
  export = text;
}

/** A program for Node, embedded as it is. */
declare module '*.node-kernel' {
  const text: string;
  export = text;
}

/** A bash program, embedded as it is. */
declare module '*.bash' {
  const text: string;
  export = text;
}
