/** The statements that a fenced function is written from, and the records of what its fences stopped. */
package io.tessera.guardian.fence.text;
