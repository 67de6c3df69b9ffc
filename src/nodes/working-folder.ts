import { accessSync, constants } from 'node:fs';

/**
 * Where a program that is started begins: where this one is, or in `/` where that is gone or is not for this user (`sudo -u` in
 * root's home). execa enters the folder by its name, and what fails then reads as if the program could not be run.
 */
export function workingFolder(): string {
  try {
    accessSync('.', constants.X_OK);
    return process.cwd();
  } catch {
    return '/';
  }
}
