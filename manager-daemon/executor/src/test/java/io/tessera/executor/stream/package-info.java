/** What streams wait for, and who ends it. */
package io.tessera.executor.stream;
