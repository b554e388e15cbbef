package io.tessera.protocol.message;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;

class TenantNameTest {
    @Test
    void aLabelOfTwoUsersIsTwoTenants() {
        assertEquals("a", TenantName.of("a", 0, 0));
        assertEquals("a of user 4294967294", TenantName.of("a", -2, 0));
        assertNotEquals(TenantName.of("a", 5, 0), TenantName.of("a", 6, 0));
        assertNotEquals(TenantName.of("a of user 5", 6, 0), TenantName.of("a", 5, 0));
    }

    @Test
    void aNameTellsWhoseItIs() {
        assertEquals(TenantName.user(TenantName.of("a", 7, 0)), TenantName.user(TenantName.of("b", 7, 0)));
        assertEquals("7", TenantName.user("a of user 7"));
        assertEquals("", TenantName.user(TenantName.of("a", 0, 0)));
        assertEquals("", TenantName.user("a of user x"));
    }
}
