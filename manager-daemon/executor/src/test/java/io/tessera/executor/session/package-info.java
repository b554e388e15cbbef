/** Tests of what a client's thread does between records. */
package io.tessera.executor.session;
