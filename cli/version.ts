import { version as packageVersion } from '../package.json';

/** The version of this program: package.json's, embedded when it is built. */
export const version: string = packageVersion;
