/** Tests of what clients hold. */
package io.tessera.executor.handle;
