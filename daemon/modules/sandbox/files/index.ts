import type { Room, RoomContext } from '../room.ts';
import { FileOperations } from './operations.ts';
import { fileRoutes } from './routes.ts';
import { FilesService } from './service.ts';

export type { BoxFile, BoxFiles, DirectoryEntry, FileStat, OpenMode } from './box-files.ts';
export type { FilesService } from './service.ts';

/** Events after which nothing is kept for a sandbox. */
const ENDS = new Set(['stopping', 'terminating', 'terminated', 'failed']);

/** Files: reading and changing them. `files` is what other rooms use of it. */
export function createFilesRoom({
  app,
  driver,
  lifecycle,
}: RoomContext): Room & { readonly files: FilesService } {
  const files = new FilesService(driver, lifecycle);
  return {
    files,
    routes: fileRoutes(new FileOperations(files, driver, lifecycle)),
    start() {
      app.bus.on('sandbox.event', ({ type, sandboxId }) => {
        if (ENDS.has(type)) files.forget(sandboxId);
      });
    },
    stop: () => files.close(),
  };
}
