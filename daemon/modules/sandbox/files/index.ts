import type { Room, RoomContext } from '../room.ts';
import { FileOperations } from './operations.ts';
import { fileRoutes } from './routes.ts';
import { FilesService } from './service.ts';

export type { BoxFile, BoxFiles, DirectoryEntry, FileStat, OpenMode } from './box-files.ts';
export { FileOperations } from './operations.ts';
export type { FilesService } from './service.ts';

/** Events after which nothing is kept for a sandbox. */
const ENDS = new Set(['stopping', 'terminating', 'terminated', 'failed']);

/** What other parts use of the files. */
export interface FilesRoom extends Room {
  readonly files: FilesService;
  readonly operations: FileOperations;
}

/** Files: reading and changing them. */
export function createFilesRoom({ app, driver, lifecycle }: RoomContext): FilesRoom {
  const files = new FilesService(driver, lifecycle);
  const operations = new FileOperations(files, driver, lifecycle);
  return {
    files,
    operations,
    routes: fileRoutes(operations),
    start() {
      app.bus.on('sandbox.event', ({ type, sandboxId }) => {
        if (ENDS.has(type)) files.forget(sandboxId);
      });
    },
    stop: () => files.close(),
  };
}
