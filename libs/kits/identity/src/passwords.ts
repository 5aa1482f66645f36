import { hash, verify } from '@node-rs/argon2';
import { AppError } from '@svc/contract';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';

/** Cost of a password hash. Argon2id is the default of the library. */
interface PasswordCost {
  /** KiB */
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

export interface Passwords {
  /** Hashes a password as PHC string. @throws overloaded */
  hash(password: string): Promise<string>;
  /**
   * Compares a password with its hash.
   *
   * @param phc undefined = there is none, as for an unknown user: takes as long, and is false
   * @throws overloaded
   */
  verify(phc: string | undefined, password: string): Promise<boolean>;
  /** Whether a hash was made at another cost, so that the password is hashed again when it is known. */
  isOutdated(phc: string): boolean;
}

/** The minimum that OWASP recommends. See docs/security/asvs.md. */
export const passwordCost: PasswordCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashes run in the threads of libuv, of which there are four, and compete with the event loop for cores. */
const MAX_RUNNING = Math.min(4, availableParallelism());
const MAX_WAITING = 64;

/**
 * Hashes passwords, few at a time: each hash takes 19 MiB and some 20 ms of a core, so that without a bound a flood of
 * sign-ins would stop all other work.
 */
export function openPasswords(cost: PasswordCost = passwordCost): Passwords {
  const turns = new Turns();
  const make = (password: string) => hash(toBytes(password), { ...cost, salt: randomBytes(16) });
  // Made before the first sign-in, so that none of them takes longer.
  const blank = make(randomBytes(16).toString('hex'));
  blank.catch(() => undefined);
  return {
    hash: (password) => turns.take(() => make(password)),
    async verify(phc, password) {
      const compared = phc ?? (await blank);
      const isEqual = await turns.take(() => verify(compared, toBytes(password)));
      return isEqual && phc !== undefined;
    },
    isOutdated: (phc) => {
      const { memoryCost, timeCost, parallelism } = cost;
      return !phc.startsWith(`$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$`);
    },
  };
}

/** Keyboards enter the same character in different forms. */
const toBytes = (password: string): Buffer => Buffer.from(password.normalize('NFKC'));

/** Runs few tasks at a time, in order of arrival. */
class Turns {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** @throws overloaded */
  async take<T>(task: () => Promise<T>): Promise<T> {
    if (this.running >= MAX_RUNNING) {
      if (this.waiting.length >= MAX_WAITING) throw new AppError('overloaded', {}, { 'Retry-After': '1' });
      // The one before passes its turn on, so that none that arrives in between takes it.
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    } else {
      this.running += 1;
    }
    try {
      return await task();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
