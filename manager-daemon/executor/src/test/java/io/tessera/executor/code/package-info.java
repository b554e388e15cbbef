/** Code of clients in a whole executor: fenced, machine code, linked, hostile. */
package io.tessera.executor.code;
