/** Looks at the stop word in loops and long functions. */
package io.tessera.guardian.fence.loop;
