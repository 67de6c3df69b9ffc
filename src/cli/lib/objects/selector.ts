import { StowageError } from '../../../api/errors.ts';
import { ApiError } from '../../../kube/errors.ts';

/**
 * Returns the result of a list with the user's selector. Throws a StowageError `usage` if the
 * server cannot parse the selector.
 */
export async function selected<T>(selector: string | undefined, list: Promise<T>): Promise<T> {
  try {
    return await list;
  } catch (error) {
    if (selector === undefined || !(error instanceof ApiError) || error.statusCode !== 400)
      throw error;
    throw new StowageError('usage', `--selector ${JSON.stringify(selector)}: ${error.message}`, {
      hint: "Write it as in kubectl, such as 'app=db,tier in (a,b),!old'.",
      cause: error,
    });
  }
}
