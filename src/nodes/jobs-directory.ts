import { refuse } from '../api/reasons.ts';
import { type NodeError, nodeError } from './errors.ts';
import type { JobKey } from './job.ts';

/**
 * Directory of a node's jobs, on a tmpfs: after a reboot a job is not found, which is the truth.
 */
export const JOBS_DIRECTORY = '/run/stowage/jobs';

/** Name in a path on the node and in a Volume's status: no other characters are allowed. */
const NAME = /^[a-z0-9][a-z0-9-]{0,99}$/;

/**
 * Returns the directory of a job on its node.
 * @throws RangeError for a key that is no plain name, or that of its subject's lock
 */
export function jobDirectory(key: JobKey): string {
  if (key.id === 'lock') throw new RangeError(`not a job name: ${JSON.stringify(key.id)}`);
  return `${subjectDirectory(key.subject)}/${plainName(key.id)}`;
}

/**
 * Returns the directory of a subject's jobs on its node.
 * @throws RangeError for a subject that is no plain name
 */
export function subjectDirectory(subject: string): string {
  return `${JOBS_DIRECTORY}/${plainName(subject)}`;
}

function plainName(name: string): string {
  if (!NAME.test(name)) {
    throw new RangeError(`not a job name: ${JSON.stringify(name)}`);
  }
  return name;
}

/**
 * Returns the beginning of scripts on a node that read or write jobs. It ends the answer if the
 * directory belongs to another user, who could plant a job's result, and unreadable jobs are not
 * "not found". Only root writes in the parent directory, so no other user can replace the
 * directory.
 */
export const ownJobs = (end: string) => `jobs=${JOBS_DIRECTORY}
if [ -e "$jobs" ] || [ -h "$jobs" ] || { [ -e "\${jobs%/*}" ] && [ ! -x "\${jobs%/*}" ]; }; then
  if [ ! -d "$jobs" ] || [ -h "$jobs" ] || [ ! -O "$jobs" ]; then
    echo "foreign $(printf %s "$(id -un)" | base64 -w0) $(ls -ld "\${jobs%/*}" "$jobs" 2>&1 | base64 -w0)"
    echo ${end}
    exit 0
  fi
fi
`;

/** Returns the part that makes the directory, after `ownJobs`, for a script that writes jobs. */
export const makeJobs = (end: string) => `if [ ! -e "$jobs" ]; then
  set -- install -d -m 0700 -o "$(id -un)" "$jobs"
  errors=$($as "$@" 2>&1) || {
    why=$(printf '%s\\n' "$errors" | not_run "$?" "$@")
    case $why in
      denied*) echo "$why $(printf %s "$*" | base64 -w0) $(printf %s "$errors" | base64 -w0) $(sudo_version)"; echo ${end}; exit 0 ;;
    esac
    printf '%s\\n' "$errors" >&2
    exit 1
  }
fi
`;

/** Error for a directory of jobs that belongs to a user other than the one that is logged in. */
export class ForeignJobs extends Error {
  override readonly name = 'ForeignJobs';

  readonly user: string;
  readonly found: string;

  constructor(user: string, found: string) {
    super(`${JOBS_DIRECTORY} is not a directory of ${user}`);
    this.user = user;
    this.found = found;
  }

  on(node: string): NodeError {
    const found = this.found.trim().replaceAll('\n', '; ');
    const why = refuse('JobsFolderForeign', {
      node,
      folder: JOBS_DIRECTORY,
      user: this.user,
      found,
    });
    return nodeError('refused', node, why, this);
  }
}
