/** The version of this svc, from package.json. */
export { version } from '../package.json';
