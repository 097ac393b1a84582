frobnicate the table;
