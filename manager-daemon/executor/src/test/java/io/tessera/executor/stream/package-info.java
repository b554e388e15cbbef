/** What streams wait for, and how such waits end. */
package io.tessera.executor.stream;
