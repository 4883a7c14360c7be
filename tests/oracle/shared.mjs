// Where ../shared is, data beside the project that it can do without (Shared() of tests/core/shared_util.h is the same
// for the other tests): X2IR_SHARED says where, and nowhere when it is empty.
import fs from 'node:fs';
import path from 'node:path';

export const NOT_SHARED = '../shared is not there';

// A folder of it, '' where it is not there. The test of that name is noted in the file X2IR_SHARED_USERS, by which
// `./dev test` runs it once more.
export function sharedFolder(test, given, below) {
  const users = process.env.X2IR_SHARED_USERS;
  if (users) fs.appendFileSync(users, `${test}\n`);
  const root = process.env.X2IR_SHARED ?? given;
  const folder = root && path.join(path.resolve(root), below);
  return folder && fs.existsSync(folder) ? folder : '';
}
