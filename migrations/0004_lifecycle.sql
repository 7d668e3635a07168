-- Cold storage, and the commit that a sandbox was made from.

ALTER TABLE sandboxes ADD COLUMN archive_at INTEGER;
ALTER TABLE sandboxes ADD COLUMN git_commit TEXT;
CREATE INDEX sandboxes_archive ON sandboxes (state, archive_at);
CREATE INDEX sandboxes_delete ON sandboxes (state, delete_at);
