// How is knowledge of the token proven without sending it?
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Secrets } from "./world.ts";

export const systemSecrets: Secrets = {
  nonce: () => randomBytes(32).toString("hex"),
  hmac: (key, text) => createHmac("sha256", key).update(text).digest("hex"),
  equal(left, right) {
    const [a, b] = [Buffer.from(left), Buffer.from(right)];
    return a.length === b.length && timingSafeEqual(a, b);
  },
};
