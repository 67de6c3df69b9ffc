import { accessSync, constants } from 'node:fs';

/**
 * Returns the directory for a program to start in: the present one, or `/`. The present one may be
 * gone, or closed to this user (`sudo -u` in root's home). execa enters the directory by its name,
 * and its error then reads as if the program could not run.
 */
export function workingDirectory(): string {
  try {
    accessSync('.', constants.X_OK);
    return process.cwd();
  } catch {
    return '/';
  }
}
