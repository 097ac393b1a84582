\i other.sql
