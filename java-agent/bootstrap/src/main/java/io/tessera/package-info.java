/** What an application may call if it wishes to. */
package io.tessera;
